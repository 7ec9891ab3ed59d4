package shop;

/** Application code that allocates 800 MB in large arrays. */
public final class Catalog implements Runnable {

    private static volatile byte[] last = {};

    @Override
    public void run() {
        for (int i = 0; i < 100; i++) {
            last = new byte[8_000_000];
        }
    }

    public static int lastLength() {
        return last.length;
    }
}
