/** A text or thought of a step that the model is still streaming. */
export interface StreamedText {
  type: 'text' | 'reasoning';
  text: string;
}

/**
 * Adds a delta to a text and returns what a client can be sent now: `undefined` while the text is blank, then all of it, then each
 * delta. Blank texts are not recorded, or are not shown.
 */
export function addDelta(streamed: StreamedText, delta: string): string | undefined {
  const wasBlank = isBlank(streamed.text);
  streamed.text += delta;
  if (isBlank(streamed.text)) return undefined;
  return wasBlank ? streamed.text : delta;
}

/** Whether a text has nothing to show. */
export function isBlank(text: string): boolean {
  return text.trim() === '';
}
