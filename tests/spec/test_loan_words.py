"""A goal in Bengali finds the code: by what its words mean, and by how they sound."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisimpur.agents.planner.facts.code_index import CodeIndex
from sisimpur.agents.planner.facts.loan_words import MOST_ALIKE, by_sound, heard
from sisimpur.agents.planner.facts.meanings import Meanings
from sisimpur.agents.planner.facts.relevance import relevance
from tests.spec.planner_repository import Repository

SAID = """
রেসিপি recipe, কুকবুক cookbook, পাসওয়ার্ড password, নোটিফিকেশন notification, পিকচার picture, সার্ভার server, অর্ডার order,
লগইন login, বাটন button, রিপোর্ট report, সার্চ search, মেসেজ message, ডাউনলোড download, এক্সপোর্ট export, ইম্পোর্ট import,
ব্যাকআপ backup, ইনভয়েস invoice, পেমেন্ট payment, ডিসকাউন্ট discount, টেমপ্লেট template, ক্যাটাগরি category, সেটিংস settings,
সাবস্ক্রিপশন subscription, ক্যালেন্ডার calendar, কমেন্ট comment, প্রোফাইল profile, অ্যাকাউন্ট account, টোকেন token,
স্ট্যাটাস status, কনফিগ config, ডেটাবেস database, ফিল্টার filter, প্রজেক্ট project, কাস্টমার customer, প্রোডাক্ট product,
সেশন session, ভ্যালিডেশন validation, প্লাগইন plugin, অ্যালবাম album, আর্টিস্ট artist, প্লেলিস্ট playlist, ট্র্যাক track,
লাইব্রেরি library, ডুপ্লিকেট duplicate, ফোল্ডার folder, মেটাডাটা metadata, টাইমআউট timeout, স্কিমা schema, বুকমার্ক bookmark,
মাইগ্রেশন migration, ওয়ার্নিং warning, লাইসেন্স license, ইনগ্রেডিয়েন্ট ingredient, গ্রুপ group, রেসিপিগুলোর recipe, সার্ভারে server,
পাসওয়ার্ডের password, মেইলটা mail, ছবি image
"""
PAIRS = [pair.split() for pair in SAID.split(",")]
KNOWN = by_sound(english for _, english in PAIRS)


@pytest.mark.parametrize(("bengali", "english"), PAIRS)
def test_a_word_in_bengali_letters_is_the_english_one_that_it_is(bengali: str, english: str) -> None:
    assert english in heard(f"কোনো {bengali} যেন না হারায়", KNOWN)


def test_what_is_to_be_done_and_what_sounds_like_everything_name_nothing() -> None:
    assert heard("এটা ঠিক করো, মুছে দাও, বন্ধ করো", KNOWN) == ()
    alike = [f"s{vowel}rb{other}r" for vowel in "aeiou" for other in "aeiou"]
    assert heard("সার্ভার", by_sound(alike[:MOST_ALIKE])) and not heard("সার্ভার", by_sound(alike))


@given(st.text("কখগরসপতনলম" + "\u09be\u09bf\u09c7\u09cd\u200d" + " ab.`/", max_size=60))
def test_any_text_is_heard_and_nothing_comes_of_latin_letters(text: str) -> None:
    latin = "".join(letter for letter in text if letter.isascii())
    assert heard(latin, KNOWN) == ()
    assert all(word.isascii() for word in heard(text, KNOWN))


def test_a_goal_in_bengali_leads_to_the_code_that_it_speaks_of() -> None:
    noise = {f"part_{n}.py": f"def part_{n}():\n    return {n}\n" for n in range(20)}
    texts = {"shop/cookbook_page.py": "def show_cookbook(book):\n    return book\n", **noise}
    index = CodeIndex(Repository(texts))
    found = relevance(index, Meanings(index), "কুকবুকের নাম দেখাও")
    assert found.ranked[:1] == ("shop/cookbook_page.py",)
