package shop;

/** Application code that uses a class with a slow static initializer. */
public final class Quotes implements Runnable {

    private double last;

    public double last() {
        return last;
    }

    @Override
    public void run() {
        last += SeasonRules.factor();
    }
}
