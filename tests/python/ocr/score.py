"""Character error rate: how far what was read is from what stands there."""


def edit_distance(read, true):
    """The least number of insertions, deletions and substitutions of characters between the two (Levenshtein)."""
    row = list(range(len(true) + 1))
    for i, character in enumerate(read, start=1):
        diagonal, row[0] = row[0], i
        for j, expected in enumerate(true, start=1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (character != expected))
    return row[-1]


def error_rate(lines, text):
    """The edit distance of the lines, joined by line ends, from the true text, over the true text's length."""
    return edit_distance("\n".join(lines), text) / len(text)
