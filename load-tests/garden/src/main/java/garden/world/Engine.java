package garden.world;

import java.util.List;

/** A database server of its own for one run. */
interface Engine {

    int port();

    String user();

    /** Address by which a JDBC driver reaches the server at a port, such as that of a link. */
    String url(int port);

    /** Statements that make the tables and the function {@code tax(millis)}, which takes that time. */
    List<String> schema();

    void stop();
}
