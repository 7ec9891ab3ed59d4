package tern.rpc.serialization.json;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tern.rpc.PeerText;
import tern.rpc.serialization.SerializationException;

/** The names that callers can use for a method's arguments. Immutable. */
final class ArgumentNames {

    private final String fullName;
    private final List<String> names;
    private final Map<String, Integer> byName = new HashMap<>();
    private final boolean invented;

    /**
     * @param fullName the service and the method, for example {@code UserService/getUser}
     * @param invented whether the names are {@code arg0}, {@code arg1} and so on, because the interface's class file
     *     contains no parameter names
     */
    ArgumentNames(String fullName, List<String> names, boolean invented) {
        this.fullName = fullName;
        this.names = names;
        this.invented = invented;
        for (int i = 0; i < names.size(); i++) {
            byName.put(names.get(i), i);
        }
    }

    String get(int index) {
        return names.get(index);
    }

    List<String> all() {
        return names;
    }

    /** Returns the index of the parameter with this name; null if no parameter has this name. */
    @Nullable
    Integer indexOf(String name) {
        return byName.get(name);
    }

    /**
     * Returns the exception for a request in which an argument is missing and a name is unknown. The unknown name is
     * probably misspelled. If no argument is missing, unknown names are allowed, because a newer version of the method
     * may have more parameters.
     */
    SerializationException unknown(String name) {
        return new SerializationException(fullName + ": unknown argument '" + PeerText.name(name) + "'; "
                + fullName.substring(fullName.lastIndexOf('/') + 1) + " has " + this);
    }

    @Override
    public String toString() {
        return String.join(", ", names) + hint();
    }

    /**
     * Returns the reason why the names differ from the parameter names in the source code; an empty string if the names
     * do not differ.
     */
    String hint() {
        return invented ? " (the interface was compiled without -parameters)" : "";
    }
}
