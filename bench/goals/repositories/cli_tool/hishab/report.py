"""Sums for `hishab report`."""
from collections import defaultdict


def by_tag(entries):
    sums = defaultdict(float)
    for each in entries:
        for tag in each.tags or ["(none)"]:
            sums[tag] += each.amount
    return dict(sorted(sums.items(), key=lambda pair: -pair[1]))


def by_month(entries):
    sums = defaultdict(float)
    for each in entries:
        sums[each.month] += each.amount
    return dict(sorted(sums.items()))


def over_budget(entries, budgets):
    return {tag: spent - budgets[tag] for tag, spent in by_tag(entries).items() if tag in budgets and spent > budgets[tag]}
