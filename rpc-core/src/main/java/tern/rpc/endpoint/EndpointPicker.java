package tern.rpc.endpoint;

import java.util.List;

/** Chooses who gets the next call. Called by many threads at once; must not block. */
public interface EndpointPicker {

    /** Makes a picker for one list; called again when the list changes. */
    @FunctionalInterface
    interface Factory {
        EndpointPicker of(List<Endpoint> endpoints);
    }

    /** An index into the list, which is not empty. */
    int next();
}
