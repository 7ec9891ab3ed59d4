package garden.shop;

/** One step in the handling of an order. The code of a fault runs in a step, and only while that fault is planted. */
public interface Step {

    /** Performs this step when an order is placed. Called for three of five calls. */
    default void place(int id) {}

    /** Performs this step when an order is viewed. Called for one of four calls. */
    default void view(int id) {}

    /** Performs this step when the order history is read. Called for three of twenty calls. */
    default void history(int id) {}
}
