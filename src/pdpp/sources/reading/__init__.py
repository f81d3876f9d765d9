"""Reading: bounded trees of files, and the file formats that several sources share."""
