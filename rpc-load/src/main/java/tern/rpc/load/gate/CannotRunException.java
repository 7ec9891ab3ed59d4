package tern.rpc.load.gate;

/** Thrown when the measurement is impossible. The message is a single line that the command shows to its user. */
final class CannotRunException extends Exception {

    private static final long serialVersionUID = 1L;

    CannotRunException(String message) {
        super(message);
    }
}
