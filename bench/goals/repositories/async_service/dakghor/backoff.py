def delay(retry, tries):
    """Seconds until the next try; None: no more tries."""
    if tries >= retry.most:
        return None
    return retry.first * retry.factor ** (tries - 1)
