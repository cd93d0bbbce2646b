import { type DemoModel, demoLanguageModel } from '../demo-language-model.ts';
import { decideTurn } from './demo-model/decide-turn.ts';
import { readConversation } from './demo-model/read-conversation.ts';

/** A small model that reads what was typed with regular expressions, and books flights. */
export function demoModel(today: () => string): DemoModel {
  return demoLanguageModel((prompt) => {
    const day = today();
    const { text, call } = decideTurn(readConversation(prompt, day), day);
    return { text, calls: call === undefined ? [] : [call] };
  });
}
