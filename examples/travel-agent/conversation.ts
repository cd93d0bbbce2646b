import { stripVTControlCharacters, styleText } from 'node:util';
import type { Agent, AgentThread, RunInput } from 'holdpoint';
import { LeftError, type Person } from './person.ts';

/** A conversation between a person and the agent. */
export interface Conversation {
  agent: Agent;
  thread: AgentThread;
  person: Person;
}

/**
 * Runs the agent until it has no more requests: the loop of every app with holdpoint. If the process ends at a question, the thread waits
 * in its store, and `converse([], …)` asks the same question again.
 */
async function converse(input: RunInput, { agent, thread, person }: Conversation): Promise<void> {
  const { signal: abortSignal } = person;
  let response = await agent.run(input, thread, { abortSignal });
  while (response.userInputRequests.length > 0) {
    person.printMessage('Agent:', response.text);
    const answers = await person.ask(response.userInputRequests);
    response = await agent.run(answers, thread, { abortSignal });
  }
  person.printMessage('Agent:', response.text);
}

/** Starts with a wish, or with the thread's state for `''`; then runs the agent with each message until the person leaves. */
export async function chat(conversation: Conversation, wish: string): Promise<void> {
  const { agent, person } = conversation;
  let { thread } = conversation;
  agent.on('call-started', ({ threadId, event: { step, index } }) => {
    const call = thread.calls.find((each) => each.step === step && each.index === index);
    if (threadId === thread.id) person.print(styleText('italic', `  ${call?.toolName} …`));
  });
  for (let text = wish; ; text = await person.readLine('You: ')) {
    if (text === '/new') {
      thread = await agent.thread();
      person.print('', 'A new conversation.');
    } else if (text !== '' || thread.revision > 0) {
      await printingErrors(converse(text === '' ? [] : text, { agent, thread, person }), person);
    }
  }
}

/* A provider may fail. The thread keeps everything, so that the person can continue. */
async function printingErrors(turn: Promise<void>, person: Person): Promise<void> {
  try {
    await turn;
  } catch (error) {
    if (error instanceof LeftError) throw error;
    const message = error instanceof Error ? error.message : String(error);
    person.printMessage('That failed:', stripVTControlCharacters(message).trim());
    person.print('Press Enter to continue from there.');
  }
}
