package garden.shop;

/** A part of the work on an order. A fault is code in a step that runs only while that fault is planted. */
public interface Step {

    /** Does this step's part when an order is placed. Called for three of five calls. */
    default void place(int id) {}

    /** Does this step's part when an order is viewed. Called for one of four calls. */
    default void view(int id) {}

    /** Does this step's part when the history of orders is read. Called for three of twenty calls. */
    default void history(int id) {}
}
