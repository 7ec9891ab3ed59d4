package garden.run;

import java.util.List;

/** One half of the garden: the open one, whose answers everybody may read, or the blind one. Found as a service. */
public interface Half {

    String name();

    /** Whether runs print only totals unless they are asked for more. */
    boolean blind();

    List<Fault> faults();
}
