"""What bench/meaning needs of Python: texts, their vectors, and the exact order of messages."""
import json, os, random, subprocess, sys, time


def model():
    import wordllama
    return wordllama.WordLlama.load(cache_dir=os.path.dirname(wordllama.__file__), disable_download=True)


def chat():
    with open(os.environ["DM_CHAT"]) as lines:
        return [text for text in (json.loads(line).get("text") for line in lines) if text and text.strip()]


def texts(count):
    """Different texts: the beginning of one message and the end of another."""
    random.seed(1)
    source = chat()
    seen = set()
    while len(seen) < count:
        a, b = random.choice(source).split(), random.choice(source).split()
        text = " ".join(a[:random.randint(0, len(a))] + b[random.randint(0, len(b)):])
        if not text or text in seen:
            continue
        number = len(seen)
        seen.add(text)
        print(json.dumps({"conversation": f"group {number % 1000}", "sender": "me", "text": text,
                          "created_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(1600000000 + number)),
                          "nonce": f"n{number}"}))


def recall(path, search):
    """How many of the ten messages that are most alike, by exact numbers, a search finds."""
    import numpy
    model_ = model()
    with open(path) as lines:
        pool = [json.loads(line)["text"] for line in lines]
    vectors = numpy.concatenate([model_.embed(pool[i:i + 1000], norm=True).astype(numpy.float32)
                                 for i in range(0, len(pool), 1000)])
    random.seed(2)
    queries = random.sample(chat(), 50)
    found_all = 0
    for query in queries:
        # A space at the end, so that the example is never taken for a reference to a message.
        query += " "
        scores = vectors @ model_.embed([query], norm=True)[0].astype(numpy.float32)
        exact = {pool[i] for i in numpy.argsort(-scores)[:10]}
        output = subprocess.run(
            search.split() + ["-n", "10", "--like", query], capture_output=True, text=True, check=True).stdout
        found_all += len(exact & {json.loads(line)["text"] for line in output.splitlines()})
    print(f"recall of the best 10 of {len(pool)}, {len(queries)} queries: {found_all / len(queries) / 10:.3f}")


if __name__ == "__main__":
    if sys.argv[1] == "texts": texts(int(sys.argv[2]))
    else: recall(sys.argv[2], sys.argv[3])
