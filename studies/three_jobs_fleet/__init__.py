"""Three jobs over three years: which fleet, when to order, and what it hangs on."""
