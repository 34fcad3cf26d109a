"""Numerical methods and checks of arguments, which know nothing about surveys."""
