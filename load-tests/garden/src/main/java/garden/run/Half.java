package garden.run;

import java.util.List;

/**
 * One half of the faults: the open half or the blind half. The answers of the open half may be read at any time. Java's
 * service loader finds the halves.
 */
public interface Half {

    String name();

    /** Returns whether a run prints only totals by default. */
    boolean blind();

    List<Fault> faults();
}
