import {
  type DemoModel,
  demoLanguageModel,
  type ModelStep,
  type Prompt,
} from '../demo-language-model.ts';

/** The organizer's model: it calls both sub-agents in one step, then reports their replies. */
export function organizerModel(): DemoModel {
  return demoLanguageModel((prompt) => {
    const [ordered, invited] = resultsIn(prompt);
    if (ordered !== undefined) return { text: `${ordered} ${invited}` };
    const wish = lastWish(prompt);
    return {
      text: 'I ask the buyer to order, and the host to write the invitation.',
      calls: [
        { toolName: 'order', input: { prompt: `Order what we need for: ${wish}` } },
        { toolName: 'invite', input: { prompt: `Invite everybody to: ${wish}` } },
      ],
    };
  });
}

/** The buyer's model: it pays for one order. */
export function buyerModel(): DemoModel {
  return demoLanguageModel((prompt) =>
    oneCall(
      prompt,
      { toolName: 'pay', input: { payee: 'Caterer Green', amount: 240, item: 'food for 20' } },
      { done: 'The food is ordered.', denied: 'No food is ordered.' },
    ),
  );
}

/** The host's model: it sends one mail. */
export function hostModel(): DemoModel {
  return demoLanguageModel((prompt) => {
    const wish = lastWish(prompt).replace(/^.*: /, '');
    return oneCall(
      prompt,
      {
        toolName: 'mail',
        input: { to: 'everybody@office.example', text: `You are invited: ${wish}` },
      },
      { done: 'Everybody is invited.', denied: 'Nobody is invited.' },
    );
  });
}

function oneCall(
  prompt: Prompt,
  call: { toolName: string; input: object },
  reply: { done: string; denied: string },
): ModelStep {
  const last = prompt.at(-1);
  const result = last?.role === 'tool' ? last.content.at(-1) : undefined;
  if (result?.type !== 'tool-result') return { calls: [call] };
  return { text: result.output.type === 'execution-denied' ? reply.denied : reply.done };
}

/** What the sub-agents replied, in the order of their calls. */
function resultsIn(prompt: Prompt): string[] {
  const last = prompt.at(-1);
  if (last?.role !== 'tool') return [];
  return last.content.flatMap((part) => {
    if (part.type !== 'tool-result') return [];
    const { output } = part;
    return output.type === 'text' || output.type === 'error-text' ? [output.value] : [];
  });
}

function lastWish(prompt: Prompt): string {
  const said = prompt.findLast(({ role }) => role === 'user');
  return said?.role === 'user'
    ? said.content.map((part) => (part.type === 'text' ? part.text : '')).join('')
    : '';
}
