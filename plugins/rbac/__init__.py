"""Users, roles, menus, departments: who may do what, and which rows they see."""
