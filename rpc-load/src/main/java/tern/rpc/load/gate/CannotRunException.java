package tern.rpc.load.gate;

/** Thrown when nothing can be measured. The message is one line for the user of the command. */
final class CannotRunException extends Exception {

    private static final long serialVersionUID = 1L;

    CannotRunException(String message) {
        super(message);
    }
}
