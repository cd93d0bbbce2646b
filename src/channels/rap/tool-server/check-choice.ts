import { inertLine } from '../../../content/inert-text.ts';
import { textAsSeen } from '../text-as-seen.ts';
import type { UserChoice } from './tool-server-options.ts';

/** A copy of a choice that can be asked; throws a `TypeError` for one that can't. */
export function checkedChoice({ prompt, choices, default: preset }: UserChoice): UserChoice {
  if (textAsSeen(prompt) === '') throw new TypeError('The prompt is empty.');
  if (choices.length === 0) throw new TypeError('There is nothing to choose from.');
  for (const label of choices) {
    const fault = whyNotLabel(label);
    if (fault !== undefined) throw new TypeError(`The choice ${JSON.stringify(label)} ${fault}.`);
  }
  if (new Set(choices.map(textAsSeen)).size < choices.length) {
    throw new TypeError('Two choices have the same label: nobody could tell them apart.');
  }
  if (!Number.isInteger(preset) || preset < 0 || preset >= choices.length) {
    throw new TypeError(`The default ${preset} is no index of a choice.`);
  }
  return { prompt, choices: [...choices], default: preset };
}

/* A label that a screen could not show as it is would mislead. */
function whyNotLabel(label: unknown): string | undefined {
  if (typeof label !== 'string') return 'is no text';
  if (label.trim() === '') return 'is empty';
  /* A backslash is shown doubled, and hides nothing. */
  const isPlain = inertLine(label) === label.replaceAll('\\', '\\\\');
  return isPlain ? undefined : 'has control, bidi or invisible characters';
}
