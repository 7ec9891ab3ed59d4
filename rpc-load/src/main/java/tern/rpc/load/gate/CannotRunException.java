package tern.rpc.load.gate;

/** Nothing can be measured. The message is one line for whoever gave the arguments. */
final class CannotRunException extends Exception {

    private static final long serialVersionUID = 1L;

    CannotRunException(String message) {
        super(message);
    }
}
