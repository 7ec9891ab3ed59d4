package garden.world;

import java.util.List;

/** A database server that is started for one run. */
interface Engine {

    int port();

    String user();

    /** Returns the JDBC URL of the server at the given port, which can be the port of a {@link Link}. */
    String url(int port);

    /**
     * Returns the statements that create the tables and the function {@code tax(millis)}. The function sleeps for the
     * given time.
     */
    List<String> schema();

    void stop();
}
