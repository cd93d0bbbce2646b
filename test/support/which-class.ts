import type { Question } from 'holdpoint';

/** A question of one pick, which may be closed. */
export const whichClass: Question = {
  kind: 'choice',
  text: 'Which class?',
  fields: [
    {
      key: 'class',
      label: 'Class',
      options: [
        { id: 'first', label: 'First' },
        { id: 'second', label: 'Second' },
      ],
      min: 1,
      max: 1,
      freeText: 'never',
    },
  ],
  allowDismiss: true,
};
