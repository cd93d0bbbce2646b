import { type DemoModel, demoLanguageModel } from '../demo-language-model.ts';
import { decideStep } from './demo-model/decide-step.ts';
import { readConversation } from './demo-model/read-conversation.ts';

/** A small model that books flights. It reads the user's messages with regular expressions. */
export function demoModel(today: () => string): DemoModel {
  return demoLanguageModel((prompt) => {
    const day = today();
    const { text, call } = decideStep(readConversation(prompt, day), day);
    return { text, calls: call === undefined ? [] : [call] };
  });
}
