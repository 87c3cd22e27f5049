"""Three friends share a dinner."""
from taka import Money, format_money

dinner = Money("1000", "BDT")
for name, share in zip(("Asif", "Mitu", "Rony"), dinner.split(3)):
    print(name, format_money(share))
