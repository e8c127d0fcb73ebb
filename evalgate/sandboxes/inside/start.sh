# Inside a sandbox: start the forwarder that the image can run; it starts the program.
if command -v python3 >/dev/null; then
  exec python3 -I -S /evalgate/forward/forward.py "$@"
elif command -v node >/dev/null; then
  exec node /evalgate/forward/forward.js "$@"
fi
echo "the image has neither python3 nor node: nothing can carry requests to the model" >&2
exit 127
