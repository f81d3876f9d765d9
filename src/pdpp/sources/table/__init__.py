"""Tables: rows and objects of any kind, with a declaration that the owner wrote or approved."""
