package garden.shop;

/**
 * One step in the handling of an order. A step contains the code of a fault, and runs this code only while the fault is
 * injected.
 */
public interface Step {

    /** Performs this step when an order is placed, which happens in 60 % of the calls. */
    default void place(int id) {}

    /** Performs this step when an order is viewed, which happens in 25 % of the calls. */
    default void view(int id) {}

    /** Performs this step when the order history is read, which happens in 15 % of the calls. */
    default void history(int id) {}
}
