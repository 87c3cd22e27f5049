"""What stands for the outside world in the demo and in the tests. The product never imports it."""
