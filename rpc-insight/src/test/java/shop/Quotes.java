package shop;

/** Application code that uses a class whose static initializer takes long. */
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
