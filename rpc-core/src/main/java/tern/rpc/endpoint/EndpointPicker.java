package tern.rpc.endpoint;

import java.util.List;

/** Chooses the endpoint of the next call. Many threads call it at once. It must not block. */
public interface EndpointPicker {

    /** Creates a picker for one list. Called again when the list changes. */
    @FunctionalInterface
    interface Factory {
        EndpointPicker of(List<Instance> instances);
    }

    /** The index of the endpoint in the list, which is not empty. */
    int next();
}
