import { stripVTControlCharacters, styleText } from 'node:util';
import type { Agent, AgentThread, RunInput } from 'holdpoint';
import { Left, type Person } from './person.ts';

/** A conversation of a person with the agent. */
export interface Conversation {
  agent: Agent;
  thread: AgentThread;
  person: Person;
}

/**
 * One input and all that it leads to, until the agent has spoken: the loop of every app with holdpoint. When the
 * process ends at a question, the thread waits in its store, and `converse([], …)` asks the same again.
 */
async function converse(input: RunInput, { agent, thread, person }: Conversation): Promise<void> {
  const { signal: abortSignal } = person;
  let response = await agent.run(input, thread, { abortSignal });
  while (response.userInputRequests.length > 0) {
    person.hearsFrom('Agent:', response.text);
    const answers = await person.answers(response.userInputRequests);
    response = await agent.run(answers, thread, { abortSignal });
  }
  person.hearsFrom('Agent:', response.text);
}

/** Begins with a wish, or (`''`) where the thread stands; then takes messages and plays them, until the person leaves. */
export async function chat(conversation: Conversation, wish: string): Promise<void> {
  const { agent, person } = conversation;
  let { thread } = conversation;
  agent.on('call-started', ({ threadId, event: { step, index } }) => {
    const call = thread.calls.find((each) => each.step === step && each.index === index);
    if (threadId === thread.id) person.hears(styleText('dim', `  ${call?.toolName} …`));
  });
  for (let text = wish; ; text = await person.types('You: ')) {
    if (text === '/new') {
      thread = await agent.thread();
      person.hears('', 'A new conversation.');
    } else if (text !== '' || thread.revision > 0) {
      await played(converse(text === '' ? [] : text, { agent, thread, person }), person);
    }
  }
}

/* A provider may fail; what was said is kept, and nothing is lost. */
async function played(turn: Promise<void>, person: Person): Promise<void> {
  try {
    await turn;
  } catch (error) {
    if (error instanceof Left) throw error;
    const message = error instanceof Error ? error.message : String(error);
    person.hearsFrom('That failed:', stripVTControlCharacters(message).trim());
    person.hears('Press Enter to go on from there.');
  }
}
