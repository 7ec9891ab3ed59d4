package garden.shop;

/** A part of the work on an order. A fault is code in a step that runs while its switch is on. */
public interface Step {

    /** Called for three of five calls. */
    default void place(int id) {}

    /** Called for one of four calls. */
    default void view(int id) {}

    /** Called for three of twenty calls. */
    default void history(int id) {}
}
