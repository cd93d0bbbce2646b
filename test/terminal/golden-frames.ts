/** Frames as seed 004 draws them, and as we draw what it does not know. Spaces at the ends of lines do not count. */
export const goldenFrames = {
  selector: `\
How would you like me to proceed with this refactoring?

  Use ↑/↓ or j/k to navigate, Enter to select

  ❯ Apply the changes now
    Show me a diff first
    Create a separate branch
    Cancel
    Say something else...`,

  selectorMovedDown: `\
How would you like me to proceed with this refactoring?

  Use ↑/↓ or j/k to navigate, Enter to select

    Apply the changes now
  ❯ Show me a diff first
    Create a separate branch
    Cancel
    Say something else...`,

  text: `\
How would you like me to proceed with this refactoring?

Enter your response: with tests▏

  Enter to send, Ctrl+J for a new line, Esc to go back`,

  numbered: `\
How would you like me to proceed with this refactoring?

  1. Apply the changes now
  2. Show me a diff first
  3. Create a separate branch
  4. Cancel
  5. Say something else...

Enter your choice (number or text): `,

  approval: `\
May I book this flight?
Why: A booking costs money.

  bookFlight
    flight: "AF1234"
    price: 420

  Use ↑/↓ or j/k to navigate, Enter to select, Esc to decide later

    Approve
  ❯ Reject
    Reject with a reason`,

  checklist: `\
Which one?

  Use ↑/↓ or j/k to navigate, Space to tick, Enter to send

  ❯ 1. [ ] Caching
    2. [x] Metrics (preselected)
    3. [ ] Tracing`,

  form: `\
Where to?

City · 1/2

  Use ↑/↓ or j/k to navigate, Enter to select

  ❯ 1. Paris
       in France
    2. Rome
       in Italy`,
};
