"""An unmodified agent of each library lists the tools, calls one, waits for a person, and carries the call out once."""


def test_openai_agents(world, model):
    from agents import Agent, OpenAIChatCompletionsModel, Runner, set_tracing_disabled
    from openai import AsyncOpenAI

    from toolwire.adapters import openai_agents

    set_tracing_disabled(True)

    async def make(client, listed):
        asked = OpenAIChatCompletionsModel("gpt-4o", AsyncOpenAI(base_url=model.url, api_key="x"))
        agent, messages = Agent("Payer", model=asked, tools=openai_agents.tools(client, listed)), []

        async def say(text):
            result = await Runner.run(agent, [*messages, {"role": "user", "content": text}])
            messages[:] = result.to_input_list()
            return result.final_output

        return say

    world(make)


def test_langchain(world, model):
    from langchain.agents import create_agent
    from langchain_openai import ChatOpenAI

    from toolwire.adapters import langchain

    async def make(client, listed):
        chat = ChatOpenAI(model="gpt-4o", base_url=model.url, api_key="x")
        agent, messages = create_agent(chat, tools=langchain.tools(client, listed)), []

        async def say(text):
            state = await agent.ainvoke({"messages": [*messages, ("user", text)]})
            messages[:] = state["messages"]
            return messages[-1].content

        return say

    world(make)


def test_pydantic_ai(world, model):
    from pydantic_ai import Agent
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    from toolwire.adapters import pydantic_ai

    async def make(client, listed):
        chat = OpenAIChatModel("gpt-4o", provider=OpenAIProvider(base_url=model.url, api_key="x"))
        agent, messages = Agent(chat, tools=pydantic_ai.tools(client, listed)), []

        async def say(text):
            result = await agent.run(text, message_history=messages)
            messages[:] = result.all_messages()
            return result.output

        return say

    world(make)


def test_llama_index(world, model):
    from llama_index.core.agent.workflow import FunctionAgent
    from llama_index.core.workflow import Context
    from llama_index.llms.openai import OpenAI

    from toolwire.adapters import llama_index

    async def make(client, listed):
        chat = OpenAI(model="gpt-4o", api_base=model.url, api_key="x")
        agent = FunctionAgent(tools=llama_index.tools(client, listed), llm=chat, streaming=False)
        context = Context(agent)

        async def say(text):
            return str(await agent.run(text, ctx=context))

        return say

    world(make)
