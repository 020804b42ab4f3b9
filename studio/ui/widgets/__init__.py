"""Small widgets that several panels share."""
