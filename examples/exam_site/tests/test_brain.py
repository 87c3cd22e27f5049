"""The brain alone: no database."""

from decimal import Decimal
from unittest import TestCase

from apps.brain.bengali import localized, sentences, words
from apps.brain.services import BLANK, generate_questions, score_answers

RIVER = "পদ্মা বাংলাদেশের প্রধান নদী। ইলিশ বাংলাদেশের জাতীয় মাছ। সুন্দরবন পৃথিবীর বৃহত্তম ম্যানগ্রোভ বন।"
PLANTS = "Plants make sugar from sunlight. Leaves breathe through small openings. Roots drink water."


class BengaliTests(TestCase):
    def test_a_number_is_written_in_the_readers_digits(self):
        self.assertEqual(localized(2026, "bn"), "২০২৬")
        self.assertEqual(localized(2026, "en"), "2026")

    def test_a_danda_ends_a_sentence(self):
        self.assertEqual(len(sentences(RIVER)), 3)

    def test_vowel_signs_do_not_cut_a_word_in_two(self):
        self.assertEqual(words("জাতীয় মাছ।"), ["জাতীয়", "মাছ"])


class QuestionTests(TestCase):
    def test_a_question_hides_one_word_of_a_sentence_among_four_options(self):
        for text in (RIVER, PLANTS):
            for question in generate_questions(text, 3):
                hidden = question.options[question.answer]
                self.assertIn(question.text.replace(BLANK, hidden), text)
                self.assertEqual(len(set(question.options)), 4)

    def test_the_same_seed_gives_the_same_questions(self):
        self.assertEqual(generate_questions(RIVER, 2, seed=7), generate_questions(RIVER, 2, seed=7))

    def test_a_short_text_gives_fewer_questions(self):
        self.assertEqual(len(generate_questions(PLANTS, 50)), 3)

    def test_a_text_without_words_is_refused(self):
        with self.assertRaisesRegex(ValueError, "usable words"):
            generate_questions("কি? না।", 1)


class ScoreTests(TestCase):
    def test_a_wrong_answer_costs_a_quarter_and_a_skipped_one_nothing(self):
        score = score_answers([0, 1, 2, 3], [0, 1, 3, None])
        self.assertEqual((score.right, score.wrong, score.skipped), (2, 1, 1))
        self.assertEqual(score.marks, Decimal("1.75"))

    def test_marks_are_never_negative(self):
        self.assertEqual(score_answers([0, 0], [1, 1]).marks, 0)

    def test_grades_follow_the_percentage(self):
        self.assertEqual(score_answers([0] * 5, [0, 0, 0, 0, None]).grade, "A+")
        self.assertEqual(score_answers([0, 0], [0, None]).grade, "B")
        self.assertEqual(score_answers([0], [None]).grade, "F")
