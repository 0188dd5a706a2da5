"""Writes a model of half a megabyte with random weights, for llama.cpp's server.

    tiny_model.py FILE.gguf [calls]

Its text is nonsense; the checks are about how the server sends it. With `calls` the model has a
token CALL_TOKEN that begins a call: a server that prefers it (--logit-bias) makes calls only.
"""

import sys

import gguf
import numpy

WIDTH, HEADS, LAYERS, FEED, CONTEXT = 64, 4, 2, 128, 4096
# llama.cpp derives from the template how calls are written, and from that a grammar.
TEMPLATE = """{%- if tools %}<|system|>
Tools:{% for tool in tools %}
{{ tool | tojson }}{% endfor %}
A call: <tool_call>
{"name": NAME, "arguments": ARGUMENTS}
</tool_call><|end|>
{% endif %}{%- for message in messages %}<|{{ message.role }}|>
{{ message.content or "" }}{% for call in message.tool_calls or [] %}
<tool_call>
{"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments | tojson }}}
</tool_call>{% endfor %}<|end|>
{% endfor %}{%- if add_generation_prompt %}<|assistant|>
{% endif %}"""

CALL_TOKEN = 354


def vocabulary(calls):
    """Special tokens, all bytes, letters, and with `calls` the beginning of a call."""
    words = ["<unk>", "<s>", "</s>"] + ["<0x%02X>" % byte for byte in range(256)]
    kinds = [gguf.TokenType.UNKNOWN, gguf.TokenType.CONTROL, gguf.TokenType.CONTROL]
    kinds += [gguf.TokenType.BYTE] * 256
    letters = ["\u2581"] + [chr(c) for c in range(33, 127)]
    words, kinds = words + letters, kinds + [gguf.TokenType.NORMAL] * len(letters)
    assert len(words) == CALL_TOKEN
    if calls:
        return words + ["<tool_call>\n"], kinds + [gguf.TokenType.USER_DEFINED]
    return words, kinds


def main(path, calls=False):
    words, kinds = vocabulary(calls)
    lot = numpy.random.default_rng(7)
    out = gguf.GGUFWriter(path, "llama")
    out.add_name("tiny")
    out.add_context_length(CONTEXT)
    out.add_embedding_length(WIDTH)
    out.add_block_count(LAYERS)
    out.add_feed_forward_length(FEED)
    out.add_head_count(HEADS)
    out.add_head_count_kv(HEADS)
    out.add_layer_norm_rms_eps(1e-5)
    out.add_rope_dimension_count(WIDTH // HEADS)
    out.add_vocab_size(len(words))
    out.add_tokenizer_model("llama")
    out.add_token_list(words)
    out.add_token_scores([0.0] * 259 + [-float(i) for i in range(len(words) - 259)])
    out.add_token_types(kinds)
    out.add_bos_token_id(1)
    out.add_eos_token_id(2)
    out.add_chat_template(TEMPLATE)

    def weights(name, *shape):
        out.add_tensor(name, lot.standard_normal(shape).astype(numpy.float32) * 0.3)

    def ones(name):
        out.add_tensor(name, numpy.ones(WIDTH, numpy.float32))

    weights("token_embd.weight", len(words), WIDTH)
    weights("output.weight", len(words), WIDTH)
    ones("output_norm.weight")
    for i in range(LAYERS):
        block = "blk.%d." % i
        ones(block + "attn_norm.weight")
        ones(block + "ffn_norm.weight")
        for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
            weights(block + name + ".weight", WIDTH, WIDTH)
        weights(block + "ffn_gate.weight", FEED, WIDTH)
        weights(block + "ffn_up.weight", FEED, WIDTH)
        weights(block + "ffn_down.weight", WIDTH, FEED)
    out.write_header_to_file()
    out.write_kv_data_to_file()
    out.write_tensors_to_file()
    out.close()


if __name__ == "__main__":
    main(sys.argv[1], "calls" in sys.argv[2:])
