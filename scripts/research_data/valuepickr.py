"""ValuePickr, a Discourse forum: lists of topics, and each topic whole. The origin cuts topics to their first 20 posts."""

from datetime import timedelta
from html import escape

from .common import before, chance, compact, iso, slug
from .theses import GENERAL, HOSTILE, NEGATIVE, NEUTRAL, PINNED, POSITIVE, THESES
from .universe import STOCKS, book_value

USERS = (
    "valuemonk compounder_in patient_bull margin_of_safety deepvalue77 ledgerlover scuttlebutt_sam dividend_dadi "
    "smallcap_sleuth nifty_nomad cashflow_kavya balance_bala ratio_ravi moat_meera quant_qureshi slowandsteady"
).split()
# Long threads: the newest posts need the tail of `stream`.
BUSY = {"RELIANCE", "TATAMOTORS"}
BY_SYMBOL = {stock.symbol: stock for stock in STOCKS}


def files():
    topics = _topics()
    # The forum lists pinned topics first, the others by their last activity.
    ordered = sorted(topics, key=lambda t: (not t["pinned"], -t["_bumped"]))
    yield "valuepickr/latest.json", compact(_list(ordered))
    ranked = sorted((t for t in topics if not t["pinned"]), key=lambda t: -t["_rank"])
    yield "valuepickr/top.json", compact(_list(ranked))
    for topic in topics:
        yield f"valuepickr/topics/{topic['id']}.json", compact(_shown(topic))


def _topics():
    topics = [_pinned(number, *row) for number, row in enumerate(PINNED)]
    topics += [_general(number, *row) for number, row in enumerate(GENERAL)]
    topics += [_stock_thread(number, thesis) for number, thesis in enumerate(THESES)]
    return topics


def _pinned(number, title, text):
    posts = [f"<p>{escape(text)}</p>"]
    topic = _topic(11 + number, title, posts, before(days=2900 - number), [0], pinned=True)
    # Nobody ever answered the first one; the list then has no time of a last post.
    topic["last_posted_at"] = None if number == 0 else topic["last_posted_at"]
    return topic


def _general(number, title, text):
    rng = chance("general", number)
    count = 8 + rng.randrange(22)
    posts = [f"<p>{escape(text)}</p>"]
    posts += [f"<p>{escape(_plain(rng))}</p>" for _ in range(count - 1)]
    return _topic(1_200 + number * 37, title, posts, before(days=700 + number * 41), _ages(rng, count, 3 + 20 * rng.random()))


def _plain(rng):
    return [
        "Agree with the above. Process matters more than any single stock.",
        "I do the opposite and it worked, though the sample is small.",
        "Thanks for sharing. Bookmarked.",
        "Please add the source of the numbers. I could not find them in the annual report.",
        "Valuations in small caps are still rich; I keep a quarter of the portfolio in cash.",
    ][rng.randrange(5)]


def _stock_thread(number, thesis):
    stock = BY_SYMBOL[thesis.symbol]
    rng = chance("thread", stock.symbol)
    count = 6 + rng.randrange(35) if stock.symbol not in BUSY else 34
    posts = [_opening(stock, thesis)]
    posts += [_reply(stock, thesis, rng, posts) for _ in range(count - 1)]
    if stock.symbol in HOSTILE:
        posts[-2] = HOSTILE[stock.symbol]
    title = f"{stock.name} - {thesis.subtitle}"
    newest = 0.1 + 9 * rng.random() ** 2
    ages = _ages(rng, count, newest if stock.symbol not in BUSY else newest / 10)
    return _topic(20_000 + number * 613, title, posts, before(days=420 + rng.randrange(1500)), ages)


def _opening(stock, thesis):
    pe = f"{stock.pe:.1f}" if stock.pe > 0 else "not meaningful (loss)"
    picture = (
        '<div class="lightbox-wrapper"><a class="lightbox" href="https://forum.example/uploads/original/1.png" title="Segment mix">'
        '<img src="https://forum.example/uploads/optimized/1_690x345.png" alt="Segment mix" width="690" height="345">'
        '<div class="meta"><svg class="fa d-icon"></svg><span class="filename">Segment mix</span>'
        '<span class="informations">1280×640 48.2 KB</span></div></a></div>'
    )
    drivers = "".join(f"<li>{escape(driver.capitalize())}</li>" for driver in thesis.drivers)
    risks = "".join(f"<li>{escape(risk.capitalize())}</li>" for risk in thesis.risks)
    return (
        f"<p><strong>{escape(stock.name)}</strong> (NSE: {escape(stock.symbol)}) is in {escape(thesis.business)}.</p>\n"
        f"<h2>Why I am interested</h2>\n<ul>{drivers}</ul>\n<p>{picture}</p>\n"
        f"<h2>Valuation</h2>\n<p>At ₹{stock.price:,.2f} the market capitalisation is about ₹{stock.cap:,} crore: P/E {pe}, "
        f"book value ₹{book_value(stock):,.0f} a share. With the present growth I find the price "
        f"{'attractive' if 0 < stock.pe < 25 else 'full but not absurd' if stock.pe < 60 else 'demanding'}.</p>\n"
        f"<h2>Risks</h2>\n<ol>{risks}</ol>\n"
        '<p>Sources: <a href="https://www.example.com/annual-report.pdf" rel="noopener nofollow ugc">annual report</a> and the '
        "last conference call.</p>\n<p><em>Disclosure: invested. This is not advice.</em></p>"
    )


def _reply(stock, thesis, rng, posts):
    # What is said follows the price, more or less.
    gloomy = stock.style in ("falling", "deep", "downtrend")
    draw = rng.random()
    bank = POSITIVE if draw < (0.25 if gloomy else 0.42) else NEGATIVE if draw < (0.65 if gloomy else 0.65) else NEUTRAL
    driver, risk = thesis.drivers[rng.randrange(2)], thesis.risks[rng.randrange(2)]
    text = bank[rng.randrange(len(bank))].format(
        driver=driver, driver_c=driver.capitalize(), risk=risk, risk_c=risk.capitalize(), price=f"{stock.price:,.0f}",
        pe=f"{abs(stock.pe):.0f}", low=f"{stock.price * 0.9:,.0f}", fair=f"{stock.price * 1.1:,.0f}",
        growth=8 + rng.randrange(12), buy=2015 + rng.randrange(9),
    )
    body = f"<p>{escape(text)}</p>"
    if rng.random() < 0.22 and len(posts) > 1:
        user, quoted = USERS[rng.randrange(len(USERS))], "I would wait for the next quarter before adding."
        body = (
            f'<aside class="quote no-group" data-username="{user}" data-post="{len(posts)}" data-topic="0">\n'
            f'<div class="title"><div class="quote-controls"></div><img loading="lazy" alt="" width="24" height="24" '
            f'src="https://forum.example/letter_avatar/{user}/48/1.png" class="avatar"> {user}:</div>\n'
            f"<blockquote><p>{quoted}</p></blockquote></aside>\n{body}"
        )
    elif rng.random() < 0.08:
        body += '\n<p><a href="https://www.example.com/concall" rel="noopener nofollow ugc">Notes of the call</a> <img src="https://forum.example/images/emoji/twitter/slight_smile.png" title=":slight_smile:" class="emoji" alt=":slight_smile:"></p>'
    return body


def _ages(rng, count, newest):
    """How many days ago each post after the first was written, oldest first."""
    ages, age = [], newest
    for _ in range(count):
        ages.append(age)
        age += 0.2 + 9 * rng.random()
    return list(reversed(ages))


def _topic(number, title, bodies, created, ages, pinned=False):
    rng = chance("posts", number)
    name, posts = slug(title), []
    for at, body in enumerate(bodies):
        moment = created if at == 0 else before(days=ages[at] if len(ages) > at else 1)
        posts.append(_post(number, name, at, body, max(created, moment), rng))
    if number % 7 == 4 and len(posts) > 8:
        # What the system says, such as that the topic was opened again, is a post as well.
        posts[-3].update(cooked="", post_type=3, action_code="autoclosed.disabled", username="system", name="system")
    last = posts[-1]
    likes = sum(post["actions_summary"][0]["count"] if post["actions_summary"] else 0 for post in posts)
    topic = {
        "id": number, "title": title, "fancy_title": escape(title), "slug": name, "posts_count": len(posts),
        "reply_count": len(posts) // 3, "highest_post_number": len(posts), "image_url": None,
        "created_at": posts[0]["created_at"], "last_posted_at": last["created_at"], "bumped": True,
        "bumped_at": last["created_at"], "archetype": "regular", "unseen": False, "pinned": pinned,
        "unpinned": None, "visible": True, "closed": pinned, "archived": False, "bookmarked": None, "liked": None,
        "views": 900 + rng.randrange(240_000), "like_count": likes, "has_summary": len(posts) > 30,
        "last_poster_username": last["username"], "category_id": 6 if number >= 20_000 else 5, "pinned_globally": pinned,
    }
    return {**topic, "_posts": posts, "_bumped": _moment(last), "_rank": likes * 10 + len(posts)}


def _moment(post):
    # As text, times of this form sort as they should; digits alone make it a number.
    return int("".join(c for c in post["created_at"] if c.isdigit()))


def _post(topic, name, at, body, moment, rng):
    user = USERS[rng.randrange(len(USERS))]
    likes = rng.randrange(40) if at == 0 else rng.randrange(9)
    return {
        "id": topic * 100 + at, "name": user.replace("_", " ").title(), "username": user,
        "avatar_template": f"/letter_avatar/{user}/{{size}}/1.png", "created_at": iso(moment), "cooked": body,
        "post_number": at + 1, "post_type": 1, "updated_at": iso(moment + timedelta(minutes=3)), "reply_count": 0,
        "reply_to_post_number": None, "quote_count": body.count('class="quote'),
        "yours": False, "topic_id": topic, "topic_slug": name,
        "actions_summary": [{"id": 2, "count": likes}] if likes else [], "hidden": False, "user_id": 100 + USERS.index(user),
        "trust_level": 2,
    }


def _public(topic):
    return {key: value for key, value in topic.items() if not key.startswith("_")}


def _list(topics):
    users = [
        {"id": 100 + at, "username": user, "name": user.replace("_", " ").title(),
         "avatar_template": f"/letter_avatar/{user}/{{size}}/1.png"}
        for at, user in enumerate(USERS)
    ]
    return {
        "users": users, "primary_groups": [],
        "topic_list": {"can_create_topic": False, "per_page": 30, "topics": [_public(topic) for topic in topics]},
    }


def _shown(topic):
    posts = topic["_posts"]
    stream = {"posts": posts, "stream": [post["id"] for post in posts]}
    return {
        "post_stream": stream, "timeline_lookup": [[1, 0]], "suggested_topics": [], "tags": [], **_public(topic),
        "participant_count": len({post["username"] for post in posts}), "word_count": 120 * len(posts), "chunk_size": 20,
    }
