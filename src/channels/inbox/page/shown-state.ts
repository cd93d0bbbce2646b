/** What a person has reached of what is shown. */
export interface ShownState {
  /** Whether they have reached the end of every field. */
  isWhole: boolean;
  /** The labels of the first fields whose end they have not reached, at most 50. Safe to show. */
  missing: readonly string[];
  /** How many values can't be shown: secrets and binaries. */
  hidden: number;
}

/** Moves through what is shown by keys. */
export interface DetailHandle {
  /** Shows the next screen; at the end, the first field that was passed over or is folded. */
  showNext(): void;
  /** Shows the screen before. */
  showPrevious(): void;
  /** Opens all that is folded. */
  unfoldAll(): void;
}
