"""The infrastructure of Punctual."""

import os

# Node 20 works; the banner of the CDK's library about its end of life would hide errors. The library reads the variable
# when it is imported: import this package before it.
os.environ.setdefault("JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION", "20")
