"""One measurement of one Python tool in a process of its own, as subject.ts does for the tools in Node.

Usage: others.py MATERIAL FOLDER TOOL speed N | quality
"""

import importlib.metadata
import json
import os
import resource
import sys
import time

import numpy

material_folder, folder, name, task, *rest = sys.argv[1:]
with open(os.path.join(material_folder, "material.json"), encoding="utf-8") as file:
    material = json.load(file)
dimensions = material["model"]["dimensions"]
vectors = numpy.fromfile(os.path.join(material_folder, "vectors.f32"), dtype="<f4").reshape(-1, dimensions)
passages = {text: index for index, text in enumerate(material["passageKeys"])}
questions = {text: len(passages) + index for index, text in enumerate(material["questionKeys"])}


def passage(text):
    return vectors[passages[text]].tolist()


def question(text):
    return vectors[questions[text]].tolist()


class Chroma:
    """A persistent client, one collection, cosine space, a filter by user."""

    settings = "PersistentClient, hnsw space cosine, where user"
    package = "chromadb"

    def __init__(self):
        import chromadb
        from chromadb.config import Settings

        client = chromadb.PersistentClient(os.path.join(folder, "chroma"), Settings(anonymized_telemetry=False))
        self.collection = client.create_collection(
            "memories", embedding_function=None, configuration={"hnsw": {"space": "cosine"}}
        )

    def write(self, user, id, text, at):
        self.collection.add(
            ids=[f"{user} {id}"], embeddings=[passage(text)], documents=[text], metadatas=[{"user": user, "at": at}]
        )

    def hits(self, user, text, limit):
        found = self.collection.query(query_embeddings=[question(text)], n_results=limit, where={"user": user})
        return [(id.split(" ", 1)[1], meta["at"]) for id, meta in zip(found["ids"][0], found["metadatas"][0])]

    def recall(self, user, text, limit):
        return [id for id, _ in self.hits(user, text, limit)]


class ChromaNewest(Chroma):
    """The eight nearest, newest first."""

    settings = "as above; the 8 nearest, newest first"

    def recall(self, user, text, limit):
        return [id for id, _ in sorted(self.hits(user, text, 8), key=lambda hit: -hit[1])]


class LangGraphStore:
    """The store that LangMem writes to, in memory, as in its quick start."""

    settings = "InMemoryStore with index, namespace by user"
    package = "langgraph"

    def __init__(self):
        from langchain_core.embeddings import Embeddings
        from langgraph.store.memory import InMemoryStore

        class Known(Embeddings):
            def embed_documents(self, texts):
                return [passage(text) for text in texts]

            def embed_query(self, text):
                return question(text)

        self.store = InMemoryStore(index={"dims": dimensions, "embed": Known(), "fields": ["text"]})

    def write(self, user, id, text, at):
        self.store.put(("memories", user), id, {"text": text})

    def recall(self, user, text, limit):
        return [item.key for item in self.store.search(("memories", user), query=text, limit=limit)]


class Mem0:
    """The open-source package with its default vector store on disk; `infer` needs a language model and is off."""

    settings = "Memory, Qdrant on disk, infer=False (no language model)"
    package = "mem0ai"

    def __init__(self):
        os.environ["MEM0_TELEMETRY"] = "False"
        os.environ["MEM0_DIR"] = os.path.join(folder, "mem0")
        from mem0 import Memory
        from mem0.embeddings.base import EmbeddingBase

        class Known(EmbeddingBase):
            def embed(self, text, memory_action=None):
                return question(text) if memory_action == "search" else passage(text)

            def embed_batch(self, texts, memory_action=None):
                return [self.embed(text, memory_action) for text in texts]

        unused = {"api_key": "unused"}
        store = {
            "collection_name": "memories",
            "embedding_model_dims": dimensions,
            "path": os.path.join(folder, "qdrant"),
            "on_disk": True,
        }
        self.memory = Memory.from_config(
            {
                "llm": {"provider": "openai", "config": unused},
                "embedder": {"provider": "openai", "config": unused},
                "vector_store": {"provider": "qdrant", "config": store},
                "history_db_path": os.path.join(folder, "history.db"),
            }
        )
        self.memory.embedding_model = Known()

    def write(self, user, id, text, at):
        self.memory.add(text, user_id=user, infer=False, metadata={"own": id})

    def recall(self, user, text, limit):
        found = self.memory.search(text, top_k=limit, filters={"user_id": user})
        return [hit["metadata"]["own"] for hit in found["results"]]


TOOLS = {"chroma": Chroma, "chroma-newest": ChromaNewest, "langgraph": LangGraphStore, "mem0": Mem0}


EVERY = 20


def resident():
    """Megabytes held now; where the system does not tell, the most since the start, which counts the material too."""
    try:
        with open("/proc/self/statm") as pages:
            return int(pages.read().split()[1]) * resource.getpagesize() / 1024 / 1024
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def timed(work):
    started = time.perf_counter()
    work()
    return (time.perf_counter() - started) * 1000


def speed(tool, size):
    global most
    writes, recalls = [], []
    for index, text in enumerate(material["texts"][:size]):
        writes.append(timed(lambda: tool.write("one", f"m{index}", text, index)))
        if index % EVERY == 0:
            most = max(most, resident())
    for index, text in enumerate(material["questions"]):
        recalls.append(timed(lambda: tool.recall("one", text, 8)))
        if index % EVERY == 0:
            most = max(most, resident())
    return {"writes": writes, "recalls": recalls}


def quality(tool):
    answers = []
    for life in material["lives"]:
        written = 0
        for asked in sorted(life["questions"], key=lambda one: one["at"]):
            due = [entry for entry in life["entries"] if entry["at"] <= asked["at"]][written:]
            written += len(due)
            for entry in due:
                tool.write(life["user"], entry["id"], entry["text"], entry["at"])
            answers.append({"id": asked["id"], "ranked": tool.recall(life["user"], asked["question"], 50)})
    return {"answers": answers}


before = most = resident()
tool = TOOLS[name]()
result = quality(tool) if task == "quality" else speed(tool, int(rest[0]))
megabytes = most - before
disk = sum(os.path.getsize(os.path.join(path, file)) for path, _, files in os.walk(folder) for file in files)
about = {"tool": name, "version": importlib.metadata.version(tool.package), "settings": tool.settings}
print(json.dumps({**about, **result, "megabytes": megabytes, "disk": disk}))
sys.stdout.flush()
os._exit(0)
