import type { Question } from '../../agent/calls/question-call.ts';
import type { UserChoiceMessage } from './callback-message.ts';
import type { RemoteServer } from './remote-server.ts';

/**
 * The question of a `user_choice`: one pick of the labels, in their order, whatever they say. Nothing is picked before the person
 * picks; the default is the answer that closing gives, where the app lets it be one, and its index stands in the metadata in any case.
 */
export function choiceQuestion(
  { prompt, choices, default: index }: UserChoiceMessage,
  { onDismiss }: Pick<RemoteServer, 'onDismiss'>,
): Question {
  const key = 'choice';
  const options = choices.map((label, at) => ({ id: String(at), label }));
  return {
    kind: 'choice',
    text: prompt,
    fields: [{ key, label: prompt, options, min: 1, max: 1, freeText: 'never' }],
    allowDismiss: true,
    metadata: { default: index },
    ...(onDismiss === 'default' ? { dismissAnswer: [{ key, optionIds: [String(index)] }] } : {}),
  };
}
