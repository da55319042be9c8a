"""Where a message is: its id asked for, every copy that was read, and what is known of the topics without one."""

import streamlit as st

from dashboard import cached, message_questions, messages
from dashboard.components import panel, tables
from dashboard.components.grades import grade
from dashboard.names import cut, in_markdown
from dashboard.view import View

KEY = "message-id"


def draw(view: View) -> None:
    """The id is in the URL, so that a link finds the same message."""
    linked = st.query_params.get("message", "")
    message_id = st.text_input("Message id", linked, key=KEY, placeholder="the whole id, as its producer wrote it")
    if message_id != linked:
        st.query_params["message"] = message_id
    if not message_id:
        panel.empty("Nothing is looked for.", "Enter a message id; every copy read in the window is listed.")
        return
    about = {name: value for name, value in messages.about("", message_id).items() if name != "cluster_id"}
    answers = {one: cached.in_window(view, one, **about) for one in message_questions.ALL}
    found = messages.on_topics(message_id, answers, messages.hashed_topics(cached.settings().pipelines, view.cluster))
    for one in found:
        assumed = f" :gray[Assuming that {in_markdown(one.assumption)}.]" if one.assumption else ""
        st.markdown(f"{grade(one.grade)} **{in_markdown(one.topic)}**: {in_markdown(one.text, 400)}{assumed}")
        if one.copies:
            rows = [{name: cut(str(value)) for name, value in messages.copy_row(row).items()} for row in one.copies]
            tables.plain(rows, None, f"Copies of the message on {cut(one.topic)}")
    for sentence in messages.decided(answers):
        st.markdown(in_markdown(sentence, 600))
    if not found:
        panel.empty("No topic was read record by record in this window.", "Widen it, or see the jobs on Health.")
