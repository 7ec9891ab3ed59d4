package garden.run;

import java.util.List;

/**
 * One half of the garden: the open one, whose answers may be read at any time, or the blind one. Found by the service
 * loader.
 */
public interface Half {

    String name();

    /** Whether runs print only totals by default. */
    boolean blind();

    List<Fault> faults();
}
