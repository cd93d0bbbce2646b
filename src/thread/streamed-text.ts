/** A text or thought of a step that the model is still streaming. */
export interface StreamedText {
  type: 'text' | 'reasoning';
  text: string;
  /** Whether clients have been sent a part of it. */
  isShown: boolean;
}

/**
 * Adds a delta to a text and returns what clients can be sent now: `undefined` while the text is blank, then all of it, then each delta.
 * Blank texts are not recorded, or are not shown. A shown text is not read again, because that would take long for a long one.
 */
export function addDelta(streamed: StreamedText, delta: string): string | undefined {
  streamed.text += delta;
  if (streamed.isShown) return delta;
  streamed.isShown = !isBlank(streamed.text);
  return streamed.isShown ? streamed.text : undefined;
}

/** Whether a text has nothing to show. */
export function isBlank(text: string): boolean {
  return text.trim() === '';
}
