package shop;

import java.util.ArrayList;
import java.util.List;

/** Code of an application that allocates many arrays, and keeps a few of them. */
public final class Attic implements Runnable {

    private static final int ARRAYS = 8_000;
    private static final int SIZE = 8_000;
    private static final int WASTED = 2; // arrays that are not kept, for each array that is kept
    private static final int WASTED_SIZE = 40_000;

    private final List<byte[]> kept = new ArrayList<>();
    private volatile byte[] last = {};

    @Override
    public void run() {
        for (int i = 0; i < ARRAYS; i++) {
            keep();
            for (int wasted = 0; wasted < WASTED; wasted++) {
                waste();
            }
        }
    }

    private void keep() {
        kept.add(new byte[SIZE]);
    }

    private void waste() {
        last = new byte[WASTED_SIZE];
    }

    public int kept() {
        return kept.size() + last.length;
    }
}
