/** The parts of the shown content that a person has reached. */
export interface ShownState {
  /** True if they have reached the end of every field. */
  isWhole: boolean;
  /** The labels of the first fields whose end they have not reached, at most 50. Safe to show. */
  missing: readonly string[];
  /** The number of values that can't be shown: secrets and binaries. */
  hidden: number;
}

/** Moves through the shown content by keys. */
export interface DetailHandle {
  /** Shows the next screen; at the end, the first field that was skipped or is folded. */
  showNext(): void;
  /** Shows the previous screen. */
  showPrevious(): void;
  /** Opens all folds. */
  unfoldAll(): void;
}
