package tern.rpc;

import java.util.stream.IntStream;

/** Measures how much two names differ, so that error messages can suggest the correct spelling of a name. */
public final class TypingErrors {

    private TypingErrors() {}

    /**
     * Returns the number of characters that must be inserted, deleted or replaced to turn one word into the other. Two
     * swapped neighbouring characters count as one difference, because they are a common typing error.
     */
    public static int between(String one, String other) {
        int[] beforeLast = {};
        int[] last = IntStream.rangeClosed(0, other.length()).toArray();
        for (int i = 1; i <= one.length(); i++) {
            int[] row = new int[other.length() + 1];
            row[0] = i;
            for (int j = 1; j <= other.length(); j++) {
                boolean same = one.charAt(i - 1) == other.charAt(j - 1);
                row[j] = Math.min(last[j - 1] + (same ? 0 : 1), 1 + Math.min(last[j], row[j - 1]));
                boolean swapped = i > 1
                        && j > 1
                        && one.charAt(i - 1) == other.charAt(j - 2)
                        && one.charAt(i - 2) == other.charAt(j - 1);
                row[j] = swapped ? Math.min(row[j], beforeLast[j - 2] + 1) : row[j];
            }
            beforeLast = last;
            last = row;
        }
        return last[other.length()];
    }
}
