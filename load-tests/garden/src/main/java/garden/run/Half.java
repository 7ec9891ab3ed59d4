package garden.run;

import java.util.List;

/**
 * One half of the faults: the open half, whose answers may be read at any time, or the blind half. The service loader
 * finds the halves.
 */
public interface Half {

    String name();

    /** Returns whether runs print only totals by default. */
    boolean blind();

    List<Fault> faults();
}
